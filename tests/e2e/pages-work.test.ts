import { WORK_PAGES } from './pages.ts';
import { walkPages } from './walk.ts';

walkPages('pages of teams and operations', WORK_PAGES, true);
