/** A passage of a document, and where a person can look at it. */
export interface Cited {
  documentId: string;
  document: string;
  collection: string;
  /** Its place in the document, from 0, and how many there are. */
  index: number;
  of: number;
  place: string;
  heading: string;
  text: string;
  link: string;
}

/** Where passages come from; `collections` are those that the agent was given. */
export interface KnowledgeSource {
  search: (query: string, limit: number, collections: readonly string[]) => Promise<Cited[]>;
  /** Undefined: there is none, or not in these. */
  read: (
    wanted: { document: string; index: number; around: number },
    collections: readonly string[],
  ) => Promise<Cited[] | undefined>;
}
