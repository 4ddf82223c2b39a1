/** Words to go with a decision, or what it stands for from now on. */
export interface DecidedWith {
  answer?: string;
  always?: { within: string | null };
}

export type Decide = (approvalId: string, approved: boolean, more?: DecidedWith) => void;
