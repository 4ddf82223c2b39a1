import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { statusOf } from './api.ts';
import { createAppRouter } from './router.tsx';
import './styles.css';

const queries = new QueryClient({
  defaultOptions: {
    queries: { retry: (tries, error) => tries < 2 && (statusOf(error) ?? 500) >= 500, staleTime: 5000 },
  },
});

createRoot(document.querySelector('#root')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={createAppRouter(queries)} />
    </QueryClientProvider>
  </StrictMode>,
);
