import { web } from '@troupe/contract';
import type { TypesOf } from '@troupe/contract';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useCall } from '../../../api.ts';
import { knowledge as texts } from '../../../texts/knowledge.ts';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { Loaded } from '../../../ui/states.tsx';

type Hit = TypesOf<typeof web.knowledge.search>['reply']['passages'][number];

/** What an agent would find, in one collection or all. */
export function Search({ collection }: { collection?: string }) {
  const [typed, setTyped] = useState('');
  const [query, setQuery] = useState('');
  return (
    <Card title={texts.search} hint={texts.searchHint}>
      <Form error={null} fields={[]} onSubmit={() => setQuery(typed.trim())} className="flex flex-col gap-4">
        <TextField
          label={texts.query}
          name="query"
          required
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
        <div>
          <Button kind="primary" type="submit">
            {texts.search}
          </Button>
        </div>
      </Form>
      {query !== '' && <Found query={query} {...(collection !== undefined && { collection })} />}
    </Card>
  );
}

function Found({ query, collection }: { query: string; collection?: string }) {
  const read = useCall(
    web.knowledge.search,
    { query: { query, ...(collection !== undefined && { collection }) } },
    { keep: true },
  );
  return (
    <div className="pt-5">
      <Loaded from={read} rows={6}>
        {({ passages }) =>
          passages.length === 0 ? (
            <p className="text-ink-soft">{texts.nothing}</p>
          ) : (
            <ol className="flex flex-col gap-4">
              {passages.map((hit) => (
                <li key={`${hit.documentId}.${hit.index}`}>
                  <One hit={hit} />
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
    </div>
  );
}

const One = ({ hit: { documentId, document, index, place, heading, text } }: { hit: Hit }) => (
  <div className="rounded-lg border border-line p-3">
    <Link
      to="/dashboard/knowledge"
      search={{ passage: `${documentId}.${index}` } as never}
      className="link font-medium"
    >
      <span dir="auto">{[document, place, heading].filter(Boolean).join(', ')}</span>
    </Link>
    <p className="mt-1 line-clamp-4 text-[0.95rem] break-words whitespace-pre-line text-ink-soft" dir="auto">
      {text}
    </p>
  </div>
);
