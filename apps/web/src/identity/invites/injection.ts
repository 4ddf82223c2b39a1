/** Texts that try to be SQL or script. An apostrophe alone is somebody's name. */
const PATTERNS: readonly RegExp[] = [
  /[<>`\\]/,
  /\p{Cc}/u,
  /\bjavascript\s*:/i,
  /\bdata\s*:\s*text\/html/i,
  /\bon[a-z]{3,}\s*=/i,
  /\$\{|\{\{/,
  /--|\/\*|\*\//,
  /;\s*\w/,
  /['"]\s*(?:or|and)\b/i,
  /\b(?:or|and)\b\s+['"\d][^=]*=/i,
  /\bunion\b[\s\S]*\bselect\b/i,
  /\b(?:select\b[\s\S]*\bfrom|insert\s+into|delete\s+from|update\b[\s\S]*\bset|(?:drop|alter|create|truncate)\s+table)\b/i,
  /\b(?:exec|execute|sleep|benchmark|pg_sleep|eval|alert)\s*\(/i,
];

export const looksInjected = (text: string): boolean => PATTERNS.some((pattern) => pattern.test(text));
