import type { Cdp } from './cdp.ts';
import type { Tab } from './tabs.ts';

/**
 * Types what the owner has sealed. The model names it and never reads it: it goes into a field of a page of the origin that
 * it is for, and nowhere else, and wherever it turns up in what the model is told it is covered.
 */

export interface Login {
  name: string;
  origin: string;
  field: 'username' | 'password';
  value: string;
}

const COVER = '[sealed]';
/** Shorter ones would cover parts of other words. */
const SHORTEST = 4;

/**
 * Runs in a world of its own in the frame: nothing that the page's scripts have changed is met there. Origin and field
 * are looked at in the same moment as the value is set.
 */
const TYPE = `function (origin, field, value) {
  if (location.origin !== origin) return 'origin:' + location.origin;
  if (!(this instanceof HTMLInputElement) || this.ownerDocument !== document || !this.isConnected) return 'field';
  const kinds = field === 'password' ? ['password'] : ['text', 'email', 'tel', 'password', ''];
  if (!kinds.includes(this.type) || this.readOnly || this.disabled) return 'field';
  // Asked first without it: what is not typed does not reach the page's process at all.
  if (value === null) return '';
  this.focus();
  this.style.setProperty('-webkit-text-security', 'disc', 'important');
  this.value = value;
  this.dispatchEvent(new InputEvent('input', { bubbles: true }));
  this.dispatchEvent(new Event('change', { bubbles: true }));
  return '';
}`;

export function createSealed(cdp: Cdp) {
  const known = new Set<string>();

  return {
    /** A text without anything that was typed sealed. */
    hidden: (text: string): string => [...known].reduce((all, value) => all.replaceAll(value, COVER), text),

    /** Answers why it was not typed. */
    async type(
      { sessionId }: Tab,
      { node, frameId }: { node: number; frameId: string },
      { name, origin, field, value }: Login,
    ): Promise<string | undefined> {
      const { executionContextId } = await cdp.send<{ executionContextId: number }>(
        'Page.createIsolatedWorld',
        { frameId, worldName: 'sealed' },
        { sessionId },
      );
      const { object } = await cdp.send<{ object: { objectId: string } }>(
        'DOM.resolveNode',
        { backendNodeId: node, executionContextId },
        { sessionId },
      );
      const call = async (given: string | null): Promise<string | undefined> => {
        const { result } = await cdp.send<{ result: { value?: string } }>(
          'Runtime.callFunctionOn',
          {
            functionDeclaration: TYPE,
            objectId: object.objectId,
            arguments: [origin, field, given].map((one) => ({ value: one })),
            returnByValue: true,
          },
          { sessionId },
        );
        return result.value;
      };
      const before = await call(null);
      if (before === '' && value.length >= SHORTEST) known.add(value);
      const said = before === '' ? await call(value) : before;
      if (said === '') return undefined;
      if (said?.startsWith('origin:'))
        return `The login ${name} is for ${origin}; this field is on ${said.slice('origin:'.length)}. Nothing was typed.`;
      return `The ${field} is typed into a field for ${field === 'password' ? 'passwords' : 'names'} only. Nothing was typed.`;
    },
  };
}
