import { useLocation, useRouter } from '@tanstack/react-router';
import { Suspense, lazy, useEffect, useRef } from 'react';
import { statusOf } from '../api.ts';
import { useConnection } from '../live/context.tsx';
import { PageAway } from '../offline.ts';
import { useSession } from '../session.ts';
import { states } from '../texts/common.ts';
import { shell } from '../texts/shell.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';

const Shell = lazy(async () => ({ default: (await import('./app-shell.tsx')).AppShell }));

/** An address that leads nowhere. Whoever is signed in keeps the way on in sight. */
export function NotFound() {
  const { pathname } = useLocation();
  const { user } = useSession();
  if (user && pathname.startsWith('/dashboard/')) {
    return (
      <Suspense fallback={null}>
        <Shell>
          <Page title={shell.notFound} lead={shell.notFoundHint}>
            <div>
              <LinkButton to="/dashboard">{shell.toDashboard}</LinkButton>
            </div>
          </Page>
        </Shell>
      </Suspense>
    );
  }
  return (
    <main className="grid min-h-dvh place-items-center">
      <h1 className="sr-only">{shell.notFound}</h1>
      <Empty title={shell.notFound} action={<LinkButton to="/">{shell.toHome}</LinkButton>}>
        {shell.notFoundHint}
      </Empty>
    </main>
  );
}

/** The page that could not be shown, and how to go on. One that could not be loaded is tried again when the platform is back. */
export function Crashed({ error }: { error: unknown }) {
  const router = useRouter();
  const { state } = useConnection();
  const isAway = error instanceof PageAway || statusOf(error) === 0;
  const wasLive = useRef(state === 'live');
  const again = () => (error instanceof PageAway ? location.reload() : void router.invalidate());
  useEffect(() => {
    if (state !== 'live') wasLive.current = false;
    else if (isAway && !wasLive.current) again();
  }, [state]);
  return (
    <div className="grid min-h-[60dvh] place-items-center">
      <h1 className="sr-only">{isAway ? shell.pageAway : shell.crashed}</h1>
      <Empty
        title={isAway ? shell.pageAway : shell.crashed}
        action={
          <Button icon="restart" onClick={again}>
            {states.retry}
          </Button>
        }
      >
        {isAway ? shell.pageAwayHint : error instanceof Error ? error.message : String(error)}
      </Empty>
    </div>
  );
}
