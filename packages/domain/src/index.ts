export * from './agent-config.ts';
export * from './teams/index.ts';
export * from './rate-limits.ts';
export * from './money.ts';
export * from './plans.ts';
export * from './infra-tools.ts';
export * from './cron.ts';
export * from './ai/catalogue.ts';
