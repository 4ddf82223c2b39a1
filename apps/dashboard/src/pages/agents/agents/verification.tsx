import { web } from '@troupe/contract';
import { useState } from 'react';
import { useCall, useSend } from '../../../api.ts';
import { moment } from '../../../format.ts';
import { manage as texts } from '../../../texts/agents.ts';
import { Button } from '../../../ui/button.tsx';
import { Badge, Card, Facts } from '../../../ui/card.tsx';
import { Confirm } from '../../../ui/dialog.tsx';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';
import { Loaded } from '../../../ui/states.tsx';

type Kind = 'eas' | 'ens' | 'webauthn' | 'coinbase';

export function Verification({ agentId }: { agentId: string }) {
  const input = { params: { id: agentId } };
  const read = useCall(web.agents.getVerification, input);
  const [asking, setAsking] = useState(false);
  const remove = useSend(web.agents.removeVerification, {
    refresh: [web.agents.getVerification],
    done: () => setAsking(false),
  });
  return (
    <Card title={texts.verification} hint={texts.verificationHint}>
      <Loaded from={read} rows={2}>
        {(state) =>
          state.verified ? (
            <div className="flex flex-col gap-4">
              <Facts
                items={[
                  [texts.verification, <Badge tone="ok">{texts.verified}</Badge>],
                  [texts.type, texts.types[state.verificationType ?? ''] ?? state.verificationType],
                  [texts.verifiedAt, moment(state.verifiedAt)],
                  ...(state.attestationUid ? [[texts.attestation, state.attestationUid] as [string, string]] : []),
                  ...(state.verifierAddress ? [[texts.verifier, state.verifierAddress] as [string, string]] : []),
                ]}
              />
              <div>
                <Button kind="danger" small onClick={() => setAsking(true)}>
                  {texts.unverify}
                </Button>
              </div>
            </div>
          ) : (
            <VerifyForm id={agentId} />
          )
        }
      </Loaded>
      <Confirm
        open={asking}
        onClose={() => setAsking(false)}
        title={texts.unverifyTitle}
        losses={texts.unverifyLoss}
        action={texts.unverify}
        busy={remove.isPending}
        error={remove.error}
        onConfirm={() => remove.mutate(input)}
      />
    </Card>
  );
}

function VerifyForm({ id }: { id: string }) {
  const [kind, setKind] = useState<Kind>('eas');
  const [verifier, setVerifier] = useState('');
  const verify = useSend(web.agents.verify, { refresh: [web.agents.getVerification] });
  return (
    <Form
      error={verify.error}
      fields={['verifierAddress']}
      onSubmit={() =>
        verify.mutate({
          params: { id },
          body: { verificationType: kind, ...(verifier && { verifierAddress: verifier }) },
        })
      }
    >
      <SelectField
        label={texts.type}
        value={kind}
        onChange={({ target }) => setKind(target.value as Kind)}
        choices={Object.entries(texts.types).map(([value, label]) => ({ value, label }))}
      />
      <TextField
        label={texts.verifier}
        name="verifierAddress"
        mono
        placeholder="0x…"
        value={verifier}
        onChange={({ target }) => setVerifier(target.value.trim())}
      />
      <Refused error={verify.error} />
      <div>
        <Button type="submit" busy={verify.isPending}>
          {texts.verify}
        </Button>
      </div>
    </Form>
  );
}
