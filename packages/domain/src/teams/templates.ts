/** The twelve ready-made teams. The first agent of each leads. */

export const TEAM_TOOLS = [
  'filesystem',
  'shell',
  'think',
  'todo',
  'memory',
  'fetch',
  'browser',
  'code',
  'background_jobs',
  'user_prompt',
] as const;
export type TeamTool = (typeof TEAM_TOOLS)[number];

/** The model every ready-made team runs on. */
export const TEAM_MODEL = 'openrouter/xiaomi/mimo-v2-pro';

export interface TemplateAgent {
  name: string;
  role: string;
  tools: readonly TeamTool[];
  /** What this one does in the team, as the instruction says it. */
  duty: string;
  /** Of those that come with the platform. */
  skills: readonly string[];
}

export interface TeamTemplate {
  key: string;
  name: string;
  category: CategoryKey;
  description: string;
  agents: readonly TemplateAgent[];
}

export const CATEGORIES = [
  { key: 'developer', label: 'Developer' },
  { key: 'creator', label: 'Creator' },
  { key: 'business', label: 'Business' },
  { key: 'personal', label: 'Personal' },
] as const;
export type CategoryKey = (typeof CATEGORIES)[number]['key'];

const TOOL_CODES = { fs: 'filesystem', sh: 'shell', th: 'think', td: 'todo', mem: 'memory' } as const;
type ToolCode = keyof typeof TOOL_CODES;

const agent = (
  name: string,
  role: string,
  codes: readonly ToolCode[],
  duty: string,
): Omit<TemplateAgent, 'skills'> => ({
  name,
  role,
  tools: codes.map((code) => TOOL_CODES[code]),
  duty,
});

/** What the agents of each team have, in their order. */
const SKILLS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  dev_team: [['work-breakdown'], ['code-change'], ['break-it']],
  devops_team: [['safe-change', 'work-breakdown'], ['safe-change'], ['security-review']],
  api_team: [['api-design', 'work-breakdown'], ['code-change'], ['api-docs']],
  content_team: [['content-brief'], ['plain-writing'], ['plain-writing']],
  social_media_team: [['content-brief'], ['plain-writing'], ['answering-people']],
  research_team: [['weighing-evidence', 'work-breakdown'], ['weighing-evidence'], ['plain-writing']],
  legal_team: [['rules-check'], ['contract-drafting'], ['rules-check']],
  finance_team: [['checkable-figures'], ['checkable-figures'], ['checkable-figures']],
  marketing_team: [['content-brief'], ['plain-writing'], ['small-experiments']],
  sales_team: [['qualifying-leads'], ['qualifying-leads'], ['clear-offers']],
  personal_assistant: [['planning-the-day'], ['weighing-evidence'], ['plain-writing']],
  solopreneur: [['planning-the-day'], ['content-brief', 'plain-writing'], ['answering-people']],
};

const team = (
  category: CategoryKey,
  key: string,
  name: string,
  agents: readonly Omit<TemplateAgent, 'skills'>[],
): TeamTemplate => ({
  key,
  name,
  category,
  description: agents.map(({ role }) => role).join(' + '),
  agents: agents.map((one, index) => ({ ...one, skills: SKILLS[key]?.[index] ?? [] })),
});

export const TEAM_TEMPLATES: readonly TeamTemplate[] = [
  team('developer', 'dev_team', 'Dev Team', [
    agent(
      'pm',
      'Product Manager',
      ['fs', 'th', 'td', 'mem'],
      'Turn requests into small, testable pieces of work, hand them out, and check what comes back.',
    ),
    agent(
      'engineer',
      'Engineer',
      ['fs', 'sh', 'th'],
      'Write and change code in the workspace, and run it before you say that it works.',
    ),
    agent(
      'qa',
      'QA',
      ['fs', 'sh', 'th'],
      'Try to break what was built: write tests, run them, and report each failure with the steps that show it.',
    ),
  ]),
  team('developer', 'devops_team', 'DevOps Team', [
    agent(
      'sre',
      'SRE Lead',
      ['fs', 'sh', 'th', 'td', 'mem'],
      'Keep services available: plan changes, hand them out, and write down what was done and how to undo it.',
    ),
    agent(
      'infra',
      'Infrastructure Engineer',
      ['fs', 'sh', 'th'],
      'Write infrastructure as code and deployment scripts, and check them with dry runs.',
    ),
    agent(
      'security',
      'Security Auditor',
      ['fs', 'sh', 'th'],
      'Review code and configuration for weaknesses; name each one, its risk and its repair.',
    ),
  ]),
  team('developer', 'api_team', 'API Team', [
    agent(
      'architect',
      'API Architect',
      ['fs', 'th', 'td', 'mem'],
      'Design interfaces that are consistent and versioned, and hand out their implementation and documentation.',
    ),
    agent(
      'backend',
      'Backend Engineer',
      ['fs', 'sh', 'th'],
      'Implement endpoints to the design and prove them with tests.',
    ),
    agent(
      'docs',
      'Docs Writer',
      ['fs', 'th'],
      'Document every endpoint with a request and a response that really work.',
    ),
  ]),
  team('creator', 'content_team', 'Content Team', [
    agent(
      'manager',
      'Content Manager',
      ['fs', 'th', 'td', 'mem'],
      'Keep the editorial plan, brief the writer, and pass drafts to the editor.',
    ),
    agent('writer', 'Writer', ['fs', 'th', 'mem'], 'Write drafts to the brief in the voice that the team remembers.'),
    agent('editor', 'Editor', ['fs', 'th'], 'Cut, correct and check facts; say what was changed and why.'),
  ]),
  team('creator', 'social_media_team', 'Social Media Team', [
    agent(
      'strategy',
      'Strategy Lead',
      ['fs', 'th', 'td', 'mem'],
      'Set goals and a calendar, and hand out posts and replies.',
    ),
    agent('creator', 'Content Creator', ['fs', 'th', 'mem'], 'Write posts that fit the platform they are for.'),
    agent(
      'engagement',
      'Engagement Manager',
      ['fs', 'th', 'mem'],
      'Draft replies, collect what the audience asks for, and remember it.',
    ),
  ]),
  team('creator', 'research_team', 'Research Team', [
    agent(
      'lead',
      'Lead Researcher',
      ['fs', 'th', 'td', 'mem'],
      'Break the question down, hand out the parts, and weigh the evidence that comes back.',
    ),
    agent('analyst', 'Analyst', ['fs', 'sh', 'th'], 'Work through data with scripts that anybody can run again.'),
    agent('writer', 'Research Writer', ['fs', 'th'], 'Write findings up with their sources and their limits.'),
  ]),
  team('business', 'legal_team', 'Legal Team', [
    agent(
      'advisor',
      'Legal Advisor',
      ['fs', 'th', 'td', 'mem'],
      'Find the legal questions in a request, hand them out, and say when a licensed lawyer must decide.',
    ),
    agent(
      'drafter',
      'Contract Drafter',
      ['fs', 'th'],
      'Draft clear agreements and mark every clause that needs a decision.',
    ),
    agent(
      'compliance',
      'Compliance Officer',
      ['fs', 'th', 'mem'],
      'Check drafts and plans against the rules that apply, and remember past findings.',
    ),
  ]),
  team('business', 'finance_team', 'Finance Team', [
    agent(
      'analyst',
      'Financial Analyst',
      ['fs', 'sh', 'th', 'mem'],
      'Model figures with scripts, hand out bookkeeping and budgets, and show every assumption.',
    ),
    agent('accountant', 'Accountant', ['fs', 'th'], 'Keep records that balance, and explain every entry.'),
    agent('budget', 'Budget Manager', ['fs', 'th', 'td'], 'Plan budgets, follow what is spent, and warn early.'),
  ]),
  team('business', 'marketing_team', 'Marketing Team', [
    agent(
      'strategist',
      'Marketing Strategist',
      ['fs', 'th', 'td', 'mem'],
      'Define audience, message and goals, and hand out texts and measurements.',
    ),
    agent('copywriter', 'Copywriter', ['fs', 'th', 'mem'], 'Write short, honest copy in several variants.'),
    agent(
      'growth',
      'Growth Analyst',
      ['fs', 'sh', 'th'],
      'Measure what works with scripts, and propose the next experiment.',
    ),
  ]),
  team('business', 'sales_team', 'Sales Team', [
    agent(
      'manager',
      'Sales Manager',
      ['fs', 'th', 'td', 'mem'],
      'Keep the pipeline, hand out leads, and check that each has a next step.',
    ),
    agent(
      'qualifier',
      'Lead Qualifier',
      ['fs', 'th', 'mem'],
      'Judge leads by need, budget and timing, and remember what was learnt.',
    ),
    agent(
      'ae',
      'Account Executive',
      ['fs', 'th', 'mem'],
      'Prepare offers and follow-ups that answer what the customer asked.',
    ),
  ]),
  team('personal', 'personal_assistant', 'Personal Assistant', [
    agent(
      'scheduler',
      'Scheduler',
      ['fs', 'th', 'td', 'mem'],
      'Keep plans and dates in order, and hand out research and writing.',
    ),
    agent('researcher', 'Researcher', ['fs', 'th', 'mem'], 'Find and compare options, and say how sure you are.'),
    agent('writer', 'Writer', ['fs', 'th', 'mem'], 'Write messages and notes in the owner’s voice.'),
  ]),
  team('personal', 'solopreneur', 'Solopreneur', [
    agent(
      'ops',
      'Business Manager',
      ['fs', 'th', 'td', 'mem'],
      'Run the day: set priorities, hand out work, and close what is done.',
    ),
    agent('marketer', 'Marketer', ['fs', 'th', 'mem'], 'Plan and write small campaigns that one person can keep up.'),
    agent(
      'support',
      'Support Agent',
      ['fs', 'th', 'mem'],
      'Answer customers kindly and exactly, and remember recurring problems.',
    ),
  ]),
];

export const findTemplate = (key: string): TeamTemplate | undefined =>
  TEAM_TEMPLATES.find((template) => template.key === key);

/** The list of templates as both services answer it. */
export function templateList(): {
  templates: {
    key: string;
    name: string;
    description: string;
    agent_count: number;
    agents: { name: string; role: string }[];
  }[];
  categories: { key: string; label: string; templates: string[] }[];
} {
  return {
    templates: TEAM_TEMPLATES.map(({ key, name, description, agents }) => ({
      key,
      name,
      description,
      agent_count: agents.length,
      agents: agents.map((one) => ({ name: one.name, role: one.role })),
    })),
    categories: CATEGORIES.map(({ key, label }) => ({
      key,
      label,
      templates: TEAM_TEMPLATES.filter(({ category }) => category === key).map((template) => template.key),
    })),
  };
}
