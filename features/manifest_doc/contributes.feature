Feature: The contributions of a manifest
  What the extension adds to the host, each from the API version on that knows it.

  @0.1 @0.2 @0.3 @0.4
  Scenario Outline: Nothing is wrong with <what>
    When a host reads the manifest
    Then nothing breaks the rule about <what>

    @MAN-CONTRIB-001
    Examples:
      | what      |
      | the tools |

    @MAN-CONTRIB-002
    Examples:
      | what         |
      | the commands |

    @MAN-CONTRIB-003
    Examples:
      | what               |
      | the tool renderers |

    @MAN-CONTRIB-004
    Examples:
      | what            |
      | the UI surfaces |

    @MAN-CONTRIB-005
    Examples:
      | what                                 |
      | the contributions that are on or off |

  @0.1
  Scenario Outline: Nothing is wrong with <what>
    When a host reads the manifest
    Then nothing breaks the rule about <what>

    @MAN-CONTRIB-006
    Examples:
      | what                                 |
      | presentation on an API that has none |

    @MAN-CONTRIB-007
    Examples:
      | what                           |
      | a menu on an API that has none |

    @MAN-CONTRIB-008
    Examples:
      | what                              |
      | providers on an API that has none |

    @MAN-CONTRIB-009
    Examples:
      | what                              |
      | shortcuts on an API that has none |

    @MAN-CONTRIB-010
    Examples:
      | what                          |
      | flags on an API that has none |

    @MAN-HOOK-002
    Examples:
      | what             |
      | hooks of API 0.2 |

    @MAN-HOOK-003
    Examples:
      | what              |
      | hooks of sessions |

  @0.2 @0.3 @0.4
  Scenario Outline: Nothing is wrong with <what>
    When a host reads the manifest
    Then nothing breaks the rule about <what>

    @MAN-CONTRIB-013
    Examples:
      | what                       |
      | the commands behind a menu |

  @0.3
  Scenario Outline: Nothing is wrong with <what>
    When a host reads the manifest
    Then nothing breaks the rule about <what>

    @MAN-HOOK-004
    Examples:
      | what                       |
      | hooks that belong together |

  @0.1 @0.2 @0.3
  Scenario Outline: Nothing is wrong with <what>
    When a host reads the manifest
    Then nothing breaks the rule about <what>

    @MAN-HOOK-006
    Examples:
      | what                    |
      | the compaction strategy |

    @MAN-HOOK-008
    Examples:
      | what             |
      | hooks of API 0.4 |

    @MAN-HOOK-009
    Examples:
      | what                    |
      | hooks around a provider |

    @MAN-HOOK-010
    Examples:
      | what                             |
      | hooks around a session operation |
