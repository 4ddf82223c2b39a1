import type { CallInput, Endpoint, EndpointTypes } from '@troupe/contract';
import { useState } from 'react';
import { useSend } from '../api.ts';
import type { SendOptions } from '../api.ts';

interface Asked<Subject> {
  /** What is asked about; undefined: nothing is. */
  subject: Subject | undefined;
  ask: (subject: Subject) => void;
  /** For `Confirm`. */
  confirm: { open: boolean; onClose: () => void; busy: boolean; error: Error | null; onConfirm: () => void };
}

/** Something that is asked before it is sent: the question stays open until it is done. */
export function useAsk<Subject, T extends EndpointTypes>(
  endpoint: Endpoint<T>,
  inputOf: (subject: Subject) => CallInput<T>,
  { refresh, done }: SendOptions<T> = {},
): Asked<Subject> {
  const [subject, setSubject] = useState<{ is: Subject }>();
  const onClose = () => setSubject(undefined);
  const send = useSend(endpoint, {
    refresh,
    done: (reply, input) => {
      onClose();
      done?.(reply, input);
    },
  });
  return {
    subject: subject?.is,
    ask(about) {
      send.reset();
      setSubject({ is: about });
    },
    confirm: {
      open: subject !== undefined,
      onClose,
      busy: send.isPending,
      error: send.error,
      onConfirm: () => subject && send.mutate(inputOf(subject.is)),
    },
  };
}
