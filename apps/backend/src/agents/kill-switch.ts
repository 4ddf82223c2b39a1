import { AppError } from '@troupe/kernel';

/** Throws while the operator has turned off the making of agents. */
export type KillSwitch = () => void;

export const createKillSwitch =
  (disabled: boolean): KillSwitch =>
  () => {
    if (disabled) throw new AppError(503, 'Provisioning is temporarily disabled. Contact support.');
  };
