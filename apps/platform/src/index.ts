export { startPlatform, type Addresses, type Owner, type PlatformOptions } from './platform.ts';
