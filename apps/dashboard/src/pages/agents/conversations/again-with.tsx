import { web } from '@troupe/contract';
import { useCall } from '../../../api.ts';
import { modelName } from '../../../models.ts';
import { ModelDialog } from '../model-picker.tsx';

/** Which model is to answer this time. */
export default function AgainWith({
  answered,
  own,
  onChoose,
  onClose,
}: {
  /** The one that did. */
  answered: string | undefined;
  /** The agent's. */
  own: string;
  /** Null: the agent's own. */
  onChoose: (model: string | null) => void;
  onClose: () => void;
}) {
  const offered = useCall(web.models.list, {}).data;
  return (
    <ModelDialog
      offered={offered}
      value={answered}
      own={modelName(own)}
      onClose={onClose}
      onChoose={(model) => {
        onClose();
        onChoose(model ?? null);
      }}
    />
  );
}
