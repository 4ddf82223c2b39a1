import { config } from 'zod';

// The page's policy forbids code made at run time, which zod would try as soon as a schema is made: import this before one.
// A bare `config({ jitless: true })` counts as free of side effects and would be left out of the bundle.
Object.assign(config(), { jitless: true });
