import { WORK_PAGES } from './pages.ts';
import { walkPages } from './walk.ts';

walkPages('pages of agents and operations', WORK_PAGES, true);
