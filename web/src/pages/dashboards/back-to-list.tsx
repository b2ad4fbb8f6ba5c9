import { Link } from '@tanstack/react-router'

export const BackToList = () => (
  <Link to="/dashboards" search={{}} className="px-2 text-accent hover:underline">
    All dashboards
  </Link>
)
