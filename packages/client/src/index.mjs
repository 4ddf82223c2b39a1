export { createEventReader, eventsOf } from './sse.mjs';
export { CallError, createTransport, errorText, urlOf } from './transport.mjs';
export { createTroupe } from './troupe.mjs';
