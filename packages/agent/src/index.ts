export * from './agent.ts';
export * from './definition.ts';
export * from './events.ts';
export * from './ports.ts';
export * from './store.ts';
export * from './tool.ts';
export * from './gateway/types.ts';
