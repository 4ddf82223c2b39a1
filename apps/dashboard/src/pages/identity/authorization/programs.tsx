import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { scopeText } from '@troupe/domain';
import { useCall } from '../../../api.ts';
import { ago, moment } from '../../../format.ts';
import { programs as texts } from '../../../texts/account.ts';
import { states } from '../../../texts/common.ts';
import { useAsk } from '../../../ui/ask.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Code } from '../../../ui/code.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { Empty } from '../../../ui/states.tsx';
import { Table } from '../../../ui/table.tsx';
import type { Column } from '../../../ui/table.tsx';
import { useSay } from '../../../ui/toast.tsx';

type Program = TypesOf<typeof web.authorization.list>['reply']['authorizations'][number];

const columns = (remove: (program: Program) => void): Column<Program>[] => [
  { key: 'name', header: texts.name, cell: ({ name }) => <span className="font-medium">{name}</span> },
  {
    key: 'audience',
    header: texts.audience,
    cell: ({ audience, agent }) => (audience === 'platform' ? texts.platform : (agent ?? audience)),
  },
  {
    key: 'scopes',
    header: texts.scopes,
    free: true,
    cell: ({ scopes }) => scopes.map(scopeText).join('. '),
  },
  { key: 'created', header: texts.created, cell: ({ createdAt }) => moment(createdAt) },
  { key: 'used', header: texts.lastUsed, cell: ({ lastUsed }) => (lastUsed ? ago(lastUsed) : states.never) },
  {
    key: 'remove',
    header: '',
    end: true,
    cell: (program) => (
      <Button small kind="danger" onClick={() => remove(program)}>
        {texts.remove}
      </Button>
    ),
  },
];

/** Programs that were let in by the page that asks; their access ends here. */
export function Programs() {
  const read = useCall(web.authorization.list, {});
  const say = useSay();
  const remove = useAsk(web.authorization.end, ({ id }: Program) => ({ params: { id } }), {
    refresh: [web.authorization.list],
    done: () => say(texts.removed),
  });
  return (
    <Card title={texts.title} hint={texts.hint} flush className="overflow-hidden">
      <div className="px-5 pb-5">
        <Code label={texts.address} text={`${location.origin}/mcp`} />
      </div>
      <Table
        label={texts.title}
        rows={read.data?.authorizations}
        rowKey={({ id }) => id}
        error={read.error}
        retry={() => void read.refetch()}
        empty={<Empty title={texts.none}>{texts.noneHint}</Empty>}
        columns={columns(remove.ask)}
      />
      <Confirm
        {...remove.confirm}
        title={texts.removeTitle(remove.subject?.name ?? '')}
        losses={texts.removeLoss}
        action={texts.remove}
      />
    </Card>
  );
}
