import { routes } from './routes.ts';

export const { bus, events, negotiation, splits, wallets } = routes('backend', 'userContext');
