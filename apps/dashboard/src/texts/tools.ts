export { toolWords as tools } from '@troupe/domain';

/** Of tools that others made, by the name that they gave. */
export const otherTool: [said: string, going: string] = ['Use', 'Using'];
export const moved = (from: string, to: string) => `${from} to ${to}`;
export const toolName = 'Tool';
/** Lines of the log that name a tool. */
export const toolWaits = (doing: string) => `Waits for your decision about ${doing}.`;
export const toolFailed = (doing: string, why: string) => `${doing[0]?.toUpperCase()}${doing.slice(1)} failed: ${why}`;
