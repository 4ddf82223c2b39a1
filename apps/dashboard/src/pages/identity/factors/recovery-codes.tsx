import { factors as texts } from '../../../texts/safety.ts';
import { Button } from '../../../ui/button.tsx';
import { Code } from '../../../ui/code.tsx';
import { Dialog } from '../../../ui/dialog.tsx';

/** Shown once. */
export function RecoveryCodes({ codes, onClose }: { codes: string[] | undefined; onClose: () => void }) {
  return (
    <Dialog open={codes !== undefined} onClose={onClose} title={texts.codesTitle} hint={texts.codesHint}>
      <div className="flex flex-col gap-4">
        <Code label={texts.codes} text={(codes ?? []).join('\n')} />
        <div className="flex justify-end">
          <Button kind="primary" onClick={onClose}>
            {texts.saved}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
