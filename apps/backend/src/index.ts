export { createBackend, type Backend, type BackendDeps } from './app.ts';
export { createScheduler } from './agents/scheduler/service.ts';
