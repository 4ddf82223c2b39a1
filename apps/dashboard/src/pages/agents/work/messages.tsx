import { web } from '@troupe/contract';
import { plainMarkdown } from '@troupe/domain';
import { useState } from 'react';
import { useCall } from '../../../api.ts';
import { moment } from '../../../format.ts';
import { messages as texts, sessions } from '../../../texts/work.ts';
import { Badge, Card } from '../../../ui/card.tsx';
import { Empty } from '../../../ui/states.tsx';
import { Pager, Table } from '../../../ui/table.tsx';
import { useAgentNames } from '../agents/names.ts';
import { readBusMessage } from '../conversations/bus-message.ts';

const PAGE = 50;
const { channels } = sessions;

export function Messages({ agentId }: { agentId: string }) {
  const [offset, setOffset] = useState(0);
  const { nameOf } = useAgentNames();
  const read = useCall(
    web.agents.getMessages,
    { params: { id: agentId }, query: { limit: String(PAGE), offset: String(offset) } },
    { keep: true },
  );
  return (
    <Card title={texts.title} flush className="overflow-hidden">
      <Table
        label={texts.title}
        rows={read.data?.messages}
        rowKey={({ id }) => id}
        error={read.error}
        retry={() => void read.refetch()}
        empty={<Empty title={texts.empty} />}
        columns={[
          { key: 'when', header: texts.when, width: 20, cell: ({ timestamp }) => moment(timestamp) },
          {
            key: 'from',
            header: texts.from,
            width: 14,
            cell: ({ sender, content }) => {
              const from = sender === 'user' ? readBusMessage(content)?.from : undefined;
              return (
                <Badge tone={sender === 'agent' ? 'accent' : 'neutral'}>{from ? nameOf(from) : texts[sender]}</Badge>
              );
            },
          },
          { key: 'via', header: texts.via, width: 14, cell: ({ platform }) => channels[platform] ?? platform },
          {
            key: 'text',
            header: texts.text,
            free: true,
            cell: ({ content }) => (
              <span className="line-clamp-4 whitespace-pre-wrap">
                {plainMarkdown(readBusMessage(content)?.text ?? content)}
              </span>
            ),
          },
        ]}
      />
      <Pager total={read.data?.total ?? 0} offset={offset} size={PAGE} onChange={setOffset} />
    </Card>
  );
}
