/** A hidden tab lets go of its connection: a browser has six for all tabs of a site. */
const HIDDEN_MS = 60_000;

type Place = Pick<Document, 'hidden' | 'addEventListener' | 'removeEventListener'>;

/** Says when the tab has been hidden for a while, and when it is seen again after that. Answers how to stop. */
export function watchHidden(place: Place, told: { hidden: () => void; seen: () => void }): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isHidden = false;
  const hide = () => {
    isHidden = true;
    told.hidden();
  };
  const look = () => {
    clearTimeout(timer);
    if (place.hidden) {
      timer = setTimeout(hide, HIDDEN_MS);
    } else if (isHidden) {
      isHidden = false;
      told.seen();
    }
  };
  place.addEventListener('visibilitychange', look);
  return () => {
    clearTimeout(timer);
    place.removeEventListener('visibilitychange', look);
  };
}
