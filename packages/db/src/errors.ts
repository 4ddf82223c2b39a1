/** A row with that unique value exists already. */
export const isDuplicate = (error: unknown): boolean => (error as { code?: string } | null)?.code === '23505';
