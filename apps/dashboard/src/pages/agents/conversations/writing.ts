/** What is being written, for whoever shows it; at most once a frame, however fast the words come. */
export interface Writing {
  text: () => string;
  subscribe: (told: () => void) => () => void;
}

interface Writer extends Writing {
  /** `fresh`: the answer begins anew. */
  add: (text: string, fresh: boolean) => void;
  clear: () => void;
}

/** `nextFrame` calls back when the screen is drawn next. */
export function createWriting(nextFrame: (show: () => void) => void): Writer {
  let text = '';
  let shown = '';
  let isAsked = false;
  const told = new Set<() => void>();
  const show = (): void => {
    shown = text;
    for (const tell of told) tell();
  };
  return {
    text: () => shown,
    subscribe(tell) {
      told.add(tell);
      return () => told.delete(tell);
    },
    add(more, fresh) {
      text = fresh ? more : text + more;
      if (isAsked) return;
      isAsked = true;
      nextFrame(() => {
        isAsked = false;
        show();
      });
    },
    clear() {
      text = '';
      show();
    },
  };
}
