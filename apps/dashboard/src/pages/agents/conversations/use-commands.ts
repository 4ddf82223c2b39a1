import { useNavigate } from '@tanstack/react-router';
import { newId } from '../../../ids.ts';
import { openSearch } from '../../../shell/open-search.ts';
import { commands as named } from '../../../texts/talk.ts';
import type { Command } from './commands.ts';
import type { usePlace } from './talk-place.ts';

/** Where a conversation begins that is not there yet. */
export const newPlace = (): string => `new-${newId().slice(0, 16)}`;

/** What can be done from the field by name. */
export function useCommands({ session, open }: ReturnType<typeof usePlace>, onOptions: () => void): Command[] {
  const navigate = useNavigate();
  return [
    { name: 'new', words: named.fresh, act: () => open(newPlace()) },
    {
      name: 'task',
      words: named.task,
      act: () => void navigate({ to: '/dashboard/tasks', search: { new: '1' } as never }),
    },
    { name: 'compare', words: named.compare, act: () => void navigate({ to: '/dashboard/compare' }) },
    { name: 'search', words: named.search, act: openSearch },
    ...(session ? [{ name: 'options', words: named.options, act: onOptions }] : []),
  ];
}
