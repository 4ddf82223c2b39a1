interface Side {
  agentId: string;
  userId: string;
}

/** Who speaks, and to whom. */
export interface Parties {
  from: Side;
  to: Side;
}
