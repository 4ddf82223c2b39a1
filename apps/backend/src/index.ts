export { createBackend, type Backend, type BackendDeps } from './app.ts';
export { createScheduler } from './features/scheduler/service.ts';
