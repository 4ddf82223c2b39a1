import { web } from '@troupe/contract';
import type { SkillSummary, TypesOf } from '@troupe/contract';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCall, useSend } from '../../../api.ts';
import { ago, bytes } from '../../../format.ts';
import { skills as texts } from '../../../texts/skills.ts';
import { useAsk } from '../../../ui/ask.ts';
import { Button } from '../../../ui/button.tsx';
import { Badge, Card, Notice } from '../../../ui/card.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { Page } from '../../../ui/page.tsx';
import { Empty, Failure } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { useSay } from '../../../ui/toast.tsx';
import { AddSkill } from './add.tsx';
import { SkillDetail } from './detail.tsx';
import { Review } from './review.tsx';

type Listing = TypesOf<typeof web.skills.list>['reply'];
type Waiting = Listing['reviews'][number];

interface Where {
  review?: string;
  skill?: string;
  agent?: string;
  session?: string;
  run?: string;
}

export default function Skills() {
  const where = useSearch({ strict: false }) as Where;
  if (where.review !== undefined) return <Review key={where.review} id={where.review} />;
  return where.skill === undefined ? <Library from={where} /> : <SkillDetail key={where.skill} id={where.skill} />;
}

function Library({ from }: { from: Where }) {
  const read = useCall(web.skills.list, {});
  const navigate = useNavigate();
  const look = (review: string) => void navigate({ to: '/dashboard/skills', search: { review } as never });
  const say = useSay();
  const remove = useAsk(web.skills.remove, ({ id }: SkillSummary) => ({ params: { id } }), {
    refresh: [web.skills.list],
    done: () => say(texts.removed),
  });
  const listing = read.data;
  return (
    <Page title={texts.title} lead={texts.lead}>
      {read.error && <Failure error={read.error} retry={() => void read.refetch()} />}
      {listing && listing.reviews.length > 0 && (
        <Card title={texts.waiting} hint={texts.waitingHint} flush className="overflow-hidden">
          <Table
            label={texts.waiting}
            rows={listing.reviews}
            rowKey={({ id }) => id}
            empty={<Empty title={texts.empty} />}
            columns={waitingColumns(look)}
          />
        </Card>
      )}
      <Card title={texts.library} hint={texts.libraryHint} flush className="overflow-hidden">
        <Table
          label={texts.library}
          rows={listing?.skills}
          rowKey={({ id }) => id}
          find={({ name, description }) => `${name} ${description}`}
          empty={<Empty title={texts.empty}>{texts.emptyHint}</Empty>}
          columns={skillColumns(remove.ask)}
        />
      </Card>
      <AddSkill from={from} onReview={look} />
      {listing && listing.builtIn.length > 0 && <BuiltIn skills={listing.builtIn} onReview={look} />}
      <Confirm
        {...remove.confirm}
        title={texts.removeTitle(remove.subject?.name ?? '')}
        losses={texts.removeLoss}
        action={texts.remove}
      />
    </Page>
  );
}

const Purpose = ({ name, description }: { name: string; description: string }) => (
  <>
    <span className="block font-medium">{name}</span>
    <Description text={description} />
  </>
);

const Description = ({ text }: { text: string }) => (
  <span className="block max-w-[60ch] text-[0.9rem] text-ink-soft" dir="auto">
    {text}
  </span>
);

const waitingColumns = (look: (id: string) => void): Column<Waiting>[] => [
  { key: 'name', header: texts.name, cell: (one) => <Purpose {...one} /> },
  { key: 'found', header: '', cell: (one) => <Found {...one} /> },
  { key: 'since', header: '', minor: true, cell: ({ createdAt }) => ago(createdAt) },
  {
    key: 'look',
    header: '',
    end: true,
    cell: ({ id }) => (
      <Button small kind="primary" icon="eye" onClick={() => look(id)}>
        {texts.look}
      </Button>
    ),
  },
];

function Found({ dangers, warnings }: { dangers: number; warnings: number }) {
  if (dangers > 0) return <Badge tone="danger">{texts.dangers(dangers)}</Badge>;
  return warnings > 0 ? <Badge tone="spot">{texts.warnings(warnings)}</Badge> : <Badge>{texts.clean}</Badge>;
}

const skillColumns = (onRemove: (skill: SkillSummary) => void): Column<SkillSummary>[] => [
  {
    key: 'name',
    header: texts.name,
    sort: ({ name }) => name,
    cell: (one) => (
      <>
        <Link to="/dashboard/skills" search={{ skill: one.id } as never} className="link font-medium">
          {one.name}
        </Link>
        <Description text={one.description} />
      </>
    ),
  },
  {
    key: 'origin',
    header: texts.origin,
    minor: true,
    free: true,
    cell: ({ source, files, bytes: size }) => (
      <>
        <span className="block break-all">{texts.sources[source] ?? source}</span>
        <span className="block text-[0.85rem] text-ink-faint">{texts.size(files, bytes(size))}</span>
      </>
    ),
  },
  {
    key: 'version',
    header: texts.version,
    minor: true,
    cell: ({ version, digest }) => (
      <span title={`sha256:${digest}`}>
        {version} <span className="font-mono text-[0.8rem] text-ink-faint">{digest.slice(0, 8)}</span>
      </span>
    ),
  },
  {
    key: 'agents',
    header: texts.usedBy,
    free: true,
    cell: ({ agents }) =>
      agents.length === 0
        ? texts.nobody
        : agents.map(({ name, behind }) => (behind ? `${name} (${texts.behind})` : name)).join(', '),
  },
  {
    key: 'remove',
    header: '',
    end: true,
    cell: (skill) => (
      <Button small kind="danger" aria-label={`${texts.remove} ${skill.name}`} onClick={() => onRemove(skill)}>
        {texts.remove}
      </Button>
    ),
  },
];

function BuiltIn({ skills, onReview }: { skills: Listing['builtIn']; onReview: (id: string) => void }) {
  const take = useSend(web.skills.review, { refresh: [web.skills.list], done: ({ id }) => onReview(id) });
  return (
    <Card title={texts.builtIn} hint={texts.builtInHint}>
      {take.error && <Notice tone="danger">{take.error.message}</Notice>}
      <ul className="grid gap-3 md:grid-cols-2">
        {skills.map((skill) => (
          <li key={skill.name} className="flex items-start justify-between gap-3 rounded-lg border border-line p-3">
            <div className="min-w-0">
              <Purpose {...skill} />
            </div>
            <Button
              small
              aria-label={`${texts.take}: ${skill.name}`}
              disabled={take.isPending}
              onClick={() => take.mutate({ body: { builtIn: skill.name } })}
            >
              {texts.take}
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}
