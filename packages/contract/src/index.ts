export * from './client.ts';
export * from './common.ts';
export * from './endpoint.ts';
export * from './messages.ts';
export * from './openapi.ts';
export * from './web/health.ts';
export * from './backend/health.ts';
export * from './backend/infra.ts';
