import { PUBLIC_PAGES } from './pages.ts';
import { walkPages } from './walk.ts';

walkPages('public pages', PUBLIC_PAGES, false);
