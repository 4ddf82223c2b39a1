import { ACCOUNT_PAGES } from './pages.ts';
import { walkPages } from './walk.ts';

walkPages('pages of account and money', ACCOUNT_PAGES, true);
