import {
  carriedOf,
  createNames,
  decoded,
  ImportError,
  isThere,
  listOf,
  modelNamed,
  objectOf,
  short,
  skillsIn,
  textOf,
  textsOf,
  withHead,
  yamlOf,
  type BundleFile,
  type Carried,
  type Given,
} from './parts.ts';

/** A company of Paperclip (agentcompanies/v1): Markdown files with a head, in folders that say what they are. */

const COMPANY = 'COMPANY.md';
const EXTENSION = ['.paperclip.yaml', '.paperclip.yml'];
const AGENT = /^agents\/([^/]+)\/AGENTS\.md$/;
const TASK = /^(?:projects\/[^/]+\/)?tasks\/([^/]+)\/TASK\.md$/;
const TEXT = /\.md$/i;
/** Files beside AGENTS.md that the model always sees; others are in the workspace. */
const SHOWN = 10;
const HEAD = new Set(['name', 'title', 'reportsTo', 'skills', 'slug', 'kind', 'schema', 'description', 'docs', 'role']);

export const isPaperclip = (paths: ReadonlySet<string>): boolean => paths.has(COMPANY);

interface Person {
  slug: string;
  name: string;
  head: Given;
  body: string;
}

export function readPaperclip(files: readonly BundleFile[]): Carried {
  const carried = carriedOf('paperclip');
  const use = (path: string): BundleFile | undefined => {
    const file = files.find((one) => one.path === path);
    if (file) carried.used.add(path);
    return file;
  };
  const company = withHead(use(COMPANY)!);
  const more = EXTENSION.flatMap((path) => use(path) ?? [])[0];
  const extension = more ? objectOf(yamlOf(decoded(more), more.path)) : {};
  const people = peopleOf(files, carried);
  if (people.length === 0) throw new ImportError('There is no agents/<name>/AGENTS.md in it');
  const lead = people.find(({ head }) => !isThere(head['reportsTo'])) ?? people[0]!;
  const ordered = [lead, ...people.filter((one) => one !== lead)];
  const bySlug = new Map(people.map(({ slug, name }) => [slug, name]));
  carried.skills.push(...skillsIn(files, 'skills', carried.used));
  carried.document = {
    name: short(textOf(company.head['name']) || 'Company'),
    description: textOf(company.head['description']).slice(0, 5000),
    metadata: { ...(company.body && { readme: company.body.slice(0, 20_000) }) },
    agents: Object.fromEntries(ordered.map((one) => [one.name, agentOf(one, { people, files, extension, carried })])),
  };
  companyNotes(company.head, company.body, carried);
  tasksOf(files, extension, bySlug, carried);
  extensionNotes(extension, carried);
  for (const { path } of files)
    if (/^(?:teams|projects)\/.*\.md$/.test(path) && !carried.used.has(path)) {
      carried.used.add(path);
      carried.notCarried.push({
        at: short(path),
        says: 'who works for whom is said by reportsTo; there are no projects here',
      });
    }
  return carried;
}

function peopleOf(files: readonly BundleFile[], { used }: Carried): Person[] {
  const nameOf = createNames();
  return files.flatMap((file) => {
    const folder = AGENT.exec(file.path)?.[1];
    if (folder === undefined) return [];
    used.add(file.path);
    const { head, body } = withHead(file);
    const slug = textOf(head['slug']) || folder;
    return [{ slug, name: nameOf(slug), head, body }];
  });
}

interface Around {
  people: readonly Person[];
  files: readonly BundleFile[];
  extension: Given;
  carried: Carried;
}

/** `ceo`, `../ceo/AGENTS.md` and `agents/ceo/AGENTS.md` mean the same. */
const slugOf = (given: string): string =>
  given
    .replace(/\/AGENTS\.md$/, '')
    .split('/')
    .findLast(Boolean) ?? '';

function agentOf({ slug, name, head, body }: Person, { people, files, extension, carried }: Around) {
  const at = `agents.${short(slug, 60)}`;
  const own = objectOf(objectOf(extension['agents'])[slug]);
  const shown = besides(slug, name, files, carried);
  for (const [key, value] of Object.entries(head))
    if (!HEAD.has(key) && isThere(value))
      carried.notCarried.push({ at: `${at}.${short(key, 60)}`, says: 'it means nothing here' });
  for (const one of textsOf(head['skills'])) {
    const found = carried.skills.find((skill) => skill.name === slugOf(one.replace(/\/SKILL\.md$/, '')));
    if (found) found.agents.push(name);
    else
      carried.toGive.push({
        at: `${at}.skills`,
        says: `the skill ${short(one, 60)} is not among the files: give it to the agent from your library`,
      });
  }
  const model = adapterOf(own, at, carried);
  return {
    role: short(textOf(head['title']) || textOf(head['name']) || name),
    description: (textOf(head['description']) || textOf(own['capabilities'])).slice(0, 2000),
    instruction: body,
    ...(model && { model }),
    sub_agents: people.filter((one) => slugOf(textOf(one.head['reportsTo'])) === slug).map((one) => one.name),
    ...(shown.length > 0 && { add_prompt_files: shown }),
    tools: ['filesystem', 'shell', 'think', 'todo', 'memory', 'fetch'],
  };
}

/** What stands beside an agent's AGENTS.md goes into its workspace; the texts are shown to it. */
function besides(slug: string, name: string, files: readonly BundleFile[], { workspace, used, notCarried }: Carried) {
  const shown: string[] = [];
  for (const file of files) {
    const prefix = `agents/${slug}/`;
    if (!file.path.startsWith(prefix) || used.has(file.path)) continue;
    const path = file.path.slice(prefix.length);
    used.add(file.path);
    workspace.push({ agent: name, path, content: file.content });
    if (!TEXT.test(path) || path.includes('/')) continue;
    if (shown.length < SHOWN) shown.push(path);
    else notCarried.push({ at: short(file.path), says: 'it is in the workspace, and not shown with every call' });
  }
  return shown;
}

function adapterOf(own: Given, at: string, { notCarried, toGive }: Carried): string | undefined {
  const { adapter, runtime, permissions, budgetMonthlyCents: cents, inputs } = own;
  const { type, config } = objectOf(adapter);
  const wanted = textOf(objectOf(config)['model']);
  const model = modelNamed(wanted);
  if (isThere(type))
    notCarried.push({ at: `${at}.adapter`, says: `it runs on this platform, not in ${short(textOf(type), 60)}` });
  if (wanted !== '' && model === undefined)
    notCarried.push({ at: `${at}.adapter.config.model`, says: `nobody can say whose model ${short(wanted, 60)} is` });
  if (isThere(runtime)) notCarried.push({ at: `${at}.runtime`, says: 'heartbeats and limits are set at the agent' });
  if (isThere(permissions)) notCarried.push({ at: `${at}.permissions`, says: 'agents make no agents here' });
  if (typeof cents === 'number' && cents > 0)
    toGive.push({
      at: `${at}.budgetMonthlyCents`,
      says: `set a cap of ${(cents / 100).toFixed(2)} a month at the agent: it has none yet`,
    });
  for (const name of Object.keys(objectOf(objectOf(inputs)['env'])))
    toGive.push({
      at: `${at}.inputs.env.${short(name, 60)}`,
      says: 'secrets are not copied: give the value to the tool that needs it',
    });
  return model;
}

function companyNotes(head: Given, body: string, { notCarried, toGive }: Carried): void {
  if (body.length > 20_000) notCarried.push({ at: COMPANY, says: 'only the first 20,000 characters are kept' });
  for (const one of textsOf(head['includes']))
    notCarried.push({ at: `${COMPANY}.includes`, says: `${short(one)} is not fetched: put it into the archive` });
  for (const one of textsOf(objectOf(head['requirements'])['secrets']))
    toGive.push({ at: `${COMPANY}.requirements`, says: `the value of ${short(one, 60)}, where a tool needs it` });
  if (isThere(head['goals']))
    notCarried.push({ at: `${COMPANY}.goals`, says: 'write them into the instruction of the lead' });
}

function tasksOf(
  files: readonly BundleFile[],
  extension: Given,
  bySlug: ReadonlyMap<string, string>,
  carried: Carried,
) {
  const routines = objectOf(extension['routines']);
  for (const file of files) {
    const folder = TASK.exec(file.path)?.[1];
    if (folder === undefined) continue;
    carried.used.add(file.path);
    const { head, body } = withHead(file);
    const slug = textOf(head['slug']) || folder;
    const agent = bySlug.get(slugOf(textOf(head['assignee'])));
    const triggers = listOf(objectOf(routines[slug])['triggers']).map(objectOf);
    const at = short(file.path);
    if (agent === undefined) carried.notCarried.push({ at, says: 'its assignee is none of the agents' });
    else if (head['recurring'] !== true && triggers.length === 0)
      carried.notCarried.push({ at, says: 'it is done once: say it to the agent' });
    else if (triggers.length === 0)
      carried.toGive.push({ at, says: 'it comes again and again, and nobody says when: make a task of it' });
    for (const trigger of agent === undefined ? [] : triggers) {
      const cronSchedule = textOf(trigger['cronExpression']);
      if (trigger['kind'] !== 'schedule' || cronSchedule === '' || trigger['enabled'] === false)
        carried.notCarried.push({
          at,
          says: `a trigger of the kind ${short(textOf(trigger['kind']), 60)} that does not run by the clock, or is off`,
        });
      else
        carried.tasks.push({
          agent: agent ?? '',
          name: short(textOf(head['name']) || slug, 100),
          prompt: body || textOf(head['name']) || slug,
          cronSchedule,
          timezone: textOf(trigger['timezone']) || 'UTC',
        });
    }
  }
}

function extensionNotes(extension: Given, { notCarried }: Carried): void {
  for (const [key, value] of Object.entries(extension))
    if (!['schema', 'agents', 'routines'].includes(key) && isThere(value))
      notCarried.push({ at: `.paperclip.yaml: ${short(key, 60)}`, says: 'it is a setting of Paperclip’s own program' });
}
