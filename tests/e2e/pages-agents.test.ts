import { AGENT_PAGES } from './pages.ts';
import { walkPages } from './walk.ts';

walkPages('pages of agents', AGENT_PAGES, true);
