# The server in a container: docker build -t easyfirst . && docker run --rm -p 127.0.0.1:8000:8000 easyfirst
FROM python:3.11-slim AS build
RUN apt-get update \
    && apt-get install -qy --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY constraints.txt pyproject.toml hatch_build.py README.md LICENSE ./
COPY src ./src
ENV EASYFIRST_REQUIRE_NATIVE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/easyfirst \
    && /opt/easyfirst/bin/python -m pip install -c constraints.txt ".[server]"

FROM python:3.11-slim
COPY --from=build /opt/easyfirst /opt/easyfirst
ENV PATH="/opt/easyfirst/bin:$PATH" PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
RUN useradd --create-home --shell /usr/sbin/nologin easyfirst
USER easyfirst
WORKDIR /home/easyfirst
EXPOSE 8000
ENTRYPOINT ["easyfirst"]
CMD ["serve", "--host", "0.0.0.0", "--no-open"]
