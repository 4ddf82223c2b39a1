export {
  createOutbound,
  type Outbound,
  type OutboundOptions,
  type OutboundRequest,
  type OutboundResponse,
} from './outbound/outbound.ts';
export { addressAllowed, type AddressRules } from './outbound/addresses.ts';
export { OutboundError, type OutboundErrorKind } from './outbound/errors.ts';
export { AppError, StartError } from './errors.ts';
export { createCipher, type Cipher } from './secrets.ts';
