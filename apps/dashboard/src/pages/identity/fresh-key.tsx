import { keys as texts } from '../../texts/account.ts';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';

/** A new key, which is shown once. */
export function FreshKey({
  title,
  hint,
  secret,
  example,
  onClose,
}: {
  title: string;
  hint: string;
  /** Undefined: there is none to show. */
  secret: string | undefined;
  /** How it is used. */
  example?: { label: string; text: string };
  onClose: () => void;
}) {
  return (
    <Dialog open={secret !== undefined} onClose={onClose} title={title} hint={hint} wide>
      <div className="flex flex-col gap-4">
        <Code label={title} text={secret ?? ''} />
        {example && <Code {...example} />}
        <div className="flex justify-end">
          <Button kind="primary" onClick={onClose}>
            {texts.done}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
