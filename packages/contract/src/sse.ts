/** Server-sent events: read as the published client reads them. */
export { createEventReader, eventsOf, type EventReader, type SentEvent } from '@troupe/client';
