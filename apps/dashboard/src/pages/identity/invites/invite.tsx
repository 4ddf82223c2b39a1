import { web } from '@troupe/contract';
import { useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useSend } from '../../../api.ts';
import { auth } from '../../../texts/public.ts';
import { Button, LinkButton } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { NarrowPage } from '../../../shell/public-frame.tsx';

const texts = auth.invite;

export default function Invite() {
  const search = useSearch({ strict: false });
  const [token, setToken] = useState(search['token'] ?? search['code'] ?? '');
  const { mutate, data, error, isPending } = useSend(web.invites.verify);
  useEffect(() => {
    const given = search['token'] ?? search['code'];
    if (given) mutate({ body: { token: given } });
  }, [search, mutate]);
  return (
    <NarrowPage title={texts.title}>
      {isPending && <p role="status">{texts.checking}</p>}
      {data?.valid ? (
        <>
          <Notice tone="ok">{texts.valid(data.plan)}</Notice>
          <LinkButton kind="primary" to="/signup" search={{ invite: token } as never}>
            {texts.accept}
          </LinkButton>
        </>
      ) : (
        !isPending && (
          <Form error={error} fields={['token']} onSubmit={() => mutate({ body: { token } })}>
            <TextField
              label={texts.code}
              name="token"
              hint={texts.missing}
              mono
              required
              value={token}
              onChange={({ target }) => setToken(target.value.trim())}
            />
            <Refused error={error} />
            <Button kind="primary" type="submit">
              {texts.submit}
            </Button>
          </Form>
        )
      )}
    </NarrowPage>
  );
}
