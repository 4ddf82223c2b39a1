import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { statusOf } from './api.ts';
import { createAppRouter } from './router.tsx';
import { keepOwnPage } from './offline.ts';
import { retry, retryDelay } from './retrying.ts';
import { sessionQuery } from './session.ts';
import './styles.css';

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry,
      retryDelay: (tries, error) => retryDelay(tries, error),
      staleTime: 5000,
      refetchOnWindowFocus: true,
    },
  },
  queryCache: new QueryCache({ onError: (error) => void leaveWhenSignedOut(error) }),
  mutationCache: new MutationCache({ onError: (error) => void leaveWhenSignedOut(error) }),
});
const router = createAppRouter(queries);

/** A 401 may be a wrong password or the end of the session: the session endpoint knows which. */
async function leaveWhenSignedOut(error: Error): Promise<void> {
  if (statusOf(error) !== 401 || !location.pathname.startsWith('/dashboard')) return;
  const { user } = await queries.fetchQuery({ ...sessionQuery, staleTime: 0 });
  if (user) return;
  await router.navigate({ to: '/login', search: { next: location.pathname + location.search } });
}

void keepOwnPage();
// It came: see before.js.
sessionStorage.removeItem('reloads');

createRoot(document.querySelector('#root')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
