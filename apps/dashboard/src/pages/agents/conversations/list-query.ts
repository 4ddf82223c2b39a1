/** Conversations on a page of the list. */
export const PAGE = 100;

/** The newest page: whoever asks for it with the same words shares the answer. */
export const listQuery = (archived: boolean) => ({
  latest: 'true' as const,
  archived: archived ? ('true' as const) : ('false' as const),
  limit: String(PAGE),
});
