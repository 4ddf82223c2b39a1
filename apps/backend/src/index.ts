export { createBackend, type Backend, type BackendDeps } from './app.ts';
