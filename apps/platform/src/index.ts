export { startPlatform, type Addresses, type PlatformOptions } from './platform.ts';
