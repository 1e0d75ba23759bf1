"""The table of what spot instances went through."""

from sqlalchemy import BigInteger, Index
from sqlmodel import Field, SQLModel


class SpotUse(SQLModel, table=True):
    """The time of one run on spot instances of an offer, all of them together, and how often they were taken away."""

    __tablename__ = "spot_use"
    __table_args__ = (Index("ix_spot_use_team_type", "team_id", "provider", "instance_type"),)

    id: int | None = Field(default=None, primary_key=True)
    team_id: int = Field(foreign_key="team.id")
    run_id: int = Field(unique=True)
    provider: str
    instance_type: str
    instance_us: int = Field(sa_type=BigInteger)
    interruptions: int
