import { useRouter } from '@tanstack/react-router';
import { states } from '../texts/common.ts';
import { shell } from '../texts/shell.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { Empty } from '../ui/states.tsx';

export function NotFound() {
  return (
    <main className="grid min-h-dvh place-items-center">
      <h1 className="sr-only">{shell.notFound}</h1>
      <Empty title={shell.notFound} action={<LinkButton to="/">{shell.toHome}</LinkButton>}>
        {shell.notFoundHint}
      </Empty>
    </main>
  );
}

export function Crashed({ error }: { error: unknown }) {
  const router = useRouter();
  return (
    <div className="grid min-h-[60dvh] place-items-center">
      <h1 className="sr-only">{shell.crashed}</h1>
      <Empty
        title={shell.crashed}
        action={
          <Button icon="restart" onClick={() => void router.invalidate()}>
            {states.retry}
          </Button>
        }
      >
        {error instanceof Error ? error.message : String(error)}
      </Empty>
    </div>
  );
}
