import type { web, TypesOf } from '@troupe/contract';
import { useState } from 'react';
import { askPasskey, passkeysWork } from '../../../passkeys.ts';
import { step as texts } from '../../../texts/safety.ts';
import { Button } from '../../../ui/button.tsx';
import { Notice } from '../../../ui/card.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form, Refused } from '../../../ui/form.tsx';

export type Method = 'passkey' | 'totp' | 'recovery' | 'password';

interface Proof {
  password?: string;
  code?: string;
  recoveryCode?: string;
  passkey?: NonNullable<Awaited<ReturnType<typeof askPasskey>>>;
}

interface ProofProps {
  methods: Method[];
  /** Where a passkey's challenge comes from. */
  options: () => Promise<TypesOf<typeof web.secondStep.startPasskey>['reply']>;
  send: { error: Error | null; isPending: boolean };
  onProof: (proof: Proof) => void;
}

const FIELDS = {
  totp: { label: texts.code, hint: texts.codeHint, autoComplete: 'one-time-code', inputMode: 'numeric' },
  recovery: { label: texts.recovery, hint: texts.recoveryHint, autoComplete: 'off', inputMode: 'text' },
  password: { label: texts.password, hint: undefined, autoComplete: 'current-password', inputMode: 'text' },
} as const;

const OTHERS = {
  passkey: texts.usePasskey,
  totp: texts.useCode,
  recovery: texts.useRecovery,
  password: texts.password,
};

/** What a proof is called in what is sent. */
const NAMES = { password: 'password', totp: 'code', recovery: 'recoveryCode' } as const;

const proofOf = (method: keyof typeof NAMES, value: string): Proof => ({ [NAMES[method]]: value });

/** One way at a time, the easiest first; the others are a click away. */
export function ProofForm({ methods: all, options, send, onProof }: ProofProps) {
  const methods = all.filter((one) => one !== 'passkey' || passkeysWork());
  const [chosen, setChosen] = useState<Method>();
  const method = chosen ?? methods[0] ?? 'recovery';
  return (
    <div className="flex flex-col gap-4">
      {method === 'passkey' ? (
        <PasskeyProof options={options} send={send} onProof={onProof} />
      ) : (
        <TypedProof key={method} method={method} send={send} onProof={onProof} />
      )}
      {methods.length > 1 && (
        <div className="flex flex-col items-start gap-1">
          {methods
            .filter((one) => one !== method)
            .map((one) => (
              <button key={one} type="button" className="link min-h-6 text-[0.9rem]" onClick={() => setChosen(one)}>
                {OTHERS[one]}
              </button>
            ))}
        </div>
      )}
    </div>
  );
}

type Part = Pick<ProofProps, 'send' | 'onProof'>;

function TypedProof({ method, send, onProof }: Part & { method: Exclude<Method, 'passkey'> }) {
  const [value, setValue] = useState('');
  return (
    <Form error={send.error} fields={[NAMES[method]]} onSubmit={() => onProof(proofOf(method, value))}>
      <TextField
        {...FIELDS[method]}
        type={method === 'password' ? 'password' : 'text'}
        name={NAMES[method]}
        required
        autoFocus
        value={value}
        onChange={({ target }) => setValue(target.value)}
      />
      <Refused error={send.error} />
      <Button kind="primary" type="submit" busy={send.isPending}>
        {texts.submit}
      </Button>
    </Form>
  );
}

function PasskeyProof({ options, send, onProof }: Part & Pick<ProofProps, 'options'>) {
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const ask = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const passkey = await askPasskey(await options());
      if (passkey) onProof({ passkey });
      else setProblem(texts.cancelled);
    } catch (error) {
      setProblem((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  const told = problem ?? send.error?.message;
  return (
    <div className="flex flex-col gap-4">
      <p className="text-ink-soft">{texts.passkeyHint}</p>
      {told && <Notice tone="danger">{told}</Notice>}
      <Button kind="primary" autoFocus busy={busy || send.isPending} onClick={() => void ask()}>
        {texts.passkey}
      </Button>
    </div>
  );
}
